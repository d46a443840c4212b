-- Null if the database belongs to the scope of the client, or to none. Else it fails and undoes its batch, and the
-- error names the scope of the database; `wadi:unscoped` asks a client of scope production to store its own.
-- It takes the parameter `scope`, and is evaluated even where the statement finds no row.
(
  select json_extract('{}', 'wadi:' || ifnull('scope_' || stored.value, 'unscoped'))
  from (select 1) one left join cairnq_meta stored on stored.key = 'wadi_scope'
  where stored.value is not :scope and (stored.value is not null or :scope = 'production')
)
