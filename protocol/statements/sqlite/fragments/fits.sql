-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large ones are weighed exactly.
-- @param task the row
(3000 + 2 * (
  length(cast(@task.payload as blob)) + length(cast(@task.metadata as blob)) + ifnull(length(cast(@task.error as blob)), 0)
  + ifnull(length(cast(@task.result as blob)), 0) + ifnull(length(cast(@task.message as blob)), 0)
) <= cast(:max_task_bytes as integer) or @weight(@task) <= cast(:max_task_bytes as integer))
