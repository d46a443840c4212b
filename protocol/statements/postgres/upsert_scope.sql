-- Makes the database belong to the scope of the client, whatever scope it belonged to.
-- @param scope text?
-- @returns nothing
insert into cairnq_meta (key, value)
values ('wadi_scope', coalesce(@guard(), :scope::text))
on conflict (key) do update set value = excluded.value
