-- The cursor at the start of a level of priority.
printf('%015d', 2147483647 - @priority_digits(row))
  || iif(row.priority = @priority_digits(row), '', '!!!!!!!!!!!!!!!!!!!!!!!!!!!!' || row.id)
