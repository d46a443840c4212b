-- The nearest integer that 15 digits of a cursor hold; a fraction above 0 is rounded up, so that it sorts before what is below it.
-- @param task the row
(cast(max(-2147483648, min(2147483647, @task.priority)) as integer)
  + (typeof(@task.priority) = 'real' and @task.priority between 0 and 2147483646))
