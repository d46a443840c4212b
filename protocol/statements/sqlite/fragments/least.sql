-- The smallest value of a column, read by one descent of an index.
-- @param column the column
-- @param where which rows of cairnq_tasks count
(select @column from cairnq_tasks where @where order by @column limit 1)
