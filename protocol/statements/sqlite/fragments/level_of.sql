-- The exact priority at which a cursor stands.
-- @param walk the row with the cursor
iif(
  substr(@walk.cursor, 16, 1) in ('!', '1'),
  (select o.priority from cairnq_tasks o where o.id = substr(@walk.cursor, 44)),
  2147483647 - cast(substr(@walk.cursor, 1, 15) as integer)
)
