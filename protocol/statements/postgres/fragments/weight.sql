-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
3000::bigint + octet_length(to_json(row.payload::text)::text) + octet_length(to_json(row.metadata::text)::text)
  + coalesce(octet_length(to_json(row.error::text)::text), 0)
  + coalesce(octet_length(to_json(row.result::text)::text), 0)
  + coalesce(octet_length(to_json(row.message)::text), 0)
