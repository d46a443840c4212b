-- Whether the id of a `task` is in a table. The range of ids only makes the planner expect few rows, and so use the
-- primary key.
-- @param rows the table
(task.id = any(array(select id from @rows)) and task.id between '' and (select max(id) from @rows))
