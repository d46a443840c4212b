-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large ones are weighed exactly.
(3000::bigint + 2::bigint * (
  octet_length(row.payload::text) + octet_length(row.metadata::text) + coalesce(octet_length(row.error::text), 0)
  + coalesce(octet_length(row.result::text), 0) + coalesce(octet_length(row.message), 0)
) <= (select :max_task_bytes::bigint) or @weight(row) <= (select :max_task_bytes::bigint))
