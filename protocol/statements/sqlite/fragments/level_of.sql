-- The exact priority at which the cursor of an entry stands.
-- @param walk the entry
iif(
  substr(@walk.cursor, 16, 1) in ('!', '1'),
  (select first.priority from cairnq_tasks first where first.id = substr(@walk.cursor, 44)),
  2147483647 - cast(substr(@walk.cursor, 1, 15) as integer)
)
