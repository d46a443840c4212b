-- The cursor at the start of a priority: the priority alone if 15 digits hold it, else a mark and the id of one of its
-- tasks.
(printf('%015d', 2147483647 - @priority_digits())
  || iif(priority = @priority_digits(), '', '!!!!!!!!!!!!!!!!!!!!!!!!!!!!' || id))
