-- Whether a task takes at most :max_task_bytes in an answer. Escaping makes no text longer than twice its length, so
-- only the large tasks are weighed exactly.
(3000::bigint + 2::bigint * (
  octet_length(payload::text) + octet_length(metadata::text)
  + coalesce(octet_length(error::text), 0) + coalesce(octet_length(result::text), 0)
  + coalesce(octet_length(message), 0)
) <= (select :max_task_bytes::bigint) or @weight() <= (select :max_task_bytes::bigint))
