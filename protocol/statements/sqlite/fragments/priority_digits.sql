-- The nearest integer to a priority that 15 digits of a cursor hold. A fraction above 0 is rounded up, so that it sorts
-- before what is below it.
(cast(max(-2147483648, min(2147483647, priority)) as integer)
  + (typeof(priority) = 'real' and priority between 0 and 2147483646))
