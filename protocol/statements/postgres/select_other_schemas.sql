-- Lists the schemas that have the tables, unless the one where they are to be created is among them.
-- @only postgres: an SQLite database has no schemas
-- @param schema text?
-- @returns schema
with found as (
  select n.nspname::text as name
  from pg_class c join pg_namespace n on n.oid = c.relnamespace
  where c.relname = 'cairnq_tasks' and c.relkind in ('r', 'p') and n.nspname !~ '^pg_'
)
select name as schema
from found
where not exists (select 1 from found where name = coalesce(:schema::text, current_schema()::text))
order by name
