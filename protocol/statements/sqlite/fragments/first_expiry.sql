-- When the next task expires, or did; null if none does. It reads one entry of an index that has only such tasks.
(
  select expires_at_ms from cairnq_tasks
  where status = 'queued' and attempt = 0 and expires_at_ms is not null
  order by expires_at_ms limit 1
)
