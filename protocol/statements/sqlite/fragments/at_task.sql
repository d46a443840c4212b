-- Whether a cursor stands at a task, and not at the start of a priority.
-- @param cursor the cursor
(substr(@cursor, 16, 1) >= '0')
