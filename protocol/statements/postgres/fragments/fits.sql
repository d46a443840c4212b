-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large ones are weighed exactly.
-- @param task the row
(3000::bigint + 2::bigint * (
  octet_length(@task.payload::text) + octet_length(@task.metadata::text) + coalesce(octet_length(@task.error::text), 0)
  + coalesce(octet_length(@task.result::text), 0) + coalesce(octet_length(@task.message), 0)
) <= (select :max_task_bytes::bigint) or @weight(@task) <= (select :max_task_bytes::bigint))
