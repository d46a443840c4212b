-- Makes the database belong to the scope of the client, whatever scope it belonged to.
-- @param scope text?
-- @returns nothing
insert into cairnq_meta (key, value)
select 'wadi_scope', coalesce(@guard(), :scope)
where true
on conflict (key) do update set value = excluded.value
