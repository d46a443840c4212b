-- Whether the tasks of a schedule failed as often in a row as it may: it pauses instead of firing.
(
  schedule.max_failures is not null and @last_status() = 'failed'
  and schedule.failures + 1 >= schedule.max_failures
)
