-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
-- @param task the row
3000::bigint + octet_length(to_json(@task.payload::text)::text) + octet_length(to_json(@task.metadata::text)::text)
  + coalesce(octet_length(to_json(@task.error::text)::text), 0)
  + coalesce(octet_length(to_json(@task.result::text)::text), 0)
  + coalesce(octet_length(to_json(@task.message)::text), 0)
