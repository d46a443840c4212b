-- The cursor at the start of a level of priority.
-- @param task the row
printf('%015d', 2147483647 - @priority_digits(@task))
  || iif(@task.priority = @priority_digits(@task), '', '!!!!!!!!!!!!!!!!!!!!!!!!!!!!' || @task.id)
