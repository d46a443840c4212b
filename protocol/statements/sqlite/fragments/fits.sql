-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large tasks are weighed exactly.
(3000 + 2 * (
  length(cast(payload as blob)) + length(cast(metadata as blob))
  + ifnull(length(cast(error as blob)), 0) + ifnull(length(cast(result as blob)), 0)
  + ifnull(length(cast(message as blob)), 0)
) <= cast(:max_task_bytes as integer) or @weight() <= cast(:max_task_bytes as integer))
