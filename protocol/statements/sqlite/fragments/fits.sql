-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large ones are weighed exactly.
(3000 + 2 * (
  length(cast(row.payload as blob)) + length(cast(row.metadata as blob)) + ifnull(length(cast(row.error as blob)), 0)
  + ifnull(length(cast(row.result as blob)), 0) + ifnull(length(cast(row.message as blob)), 0)
) <= cast(:max_task_bytes as integer) or @weight(row) <= cast(:max_task_bytes as integer))
