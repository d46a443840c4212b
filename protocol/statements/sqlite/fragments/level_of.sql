-- The exact priority at which a cursor stands.
iif(
  substr(row.cursor, 16, 1) in ('!', '1'),
  (select o.priority from cairnq_tasks o where o.id = substr(row.cursor, 44)),
  2147483647 - cast(substr(row.cursor, 1, 15) as integer)
)
