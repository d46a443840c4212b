-- Lists the schemas that have the tables, unless the one where they are to be created is among them.
-- A client that is about to create the tables asks first: in the wrong schema it would go on with empty ones.
-- @only postgres: an SQLite database has no schemas
-- @param schema text?
-- @returns schema
with found as (
  select namespace.nspname::text as name
  from pg_class class join pg_namespace namespace on namespace.oid = class.relnamespace
  where class.relname = 'cairnq_tasks' and class.relkind in ('r', 'p') and namespace.nspname !~ '^pg_'
)
select name as schema
from found
where not exists (select 1 from found where name = coalesce(:schema::text, current_schema()::text))
order by name
