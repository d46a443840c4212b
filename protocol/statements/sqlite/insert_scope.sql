-- Stores the scope of a database that has none: that of a client of scope production, or of one that migrates.
-- @param scope text?
-- @returns nothing
insert into cairnq_meta (key, value)
select 'wadi_scope', coalesce(@guard(), :scope)
where true
on conflict (key) do nothing
