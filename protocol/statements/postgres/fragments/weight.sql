-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
(3000::bigint + octet_length(to_json(payload::text)::text) + octet_length(to_json(metadata::text)::text)
  + coalesce(octet_length(to_json(error::text)::text), 0)
  + coalesce(octet_length(to_json(result::text)::text), 0)
  + coalesce(octet_length(to_json(message)::text), 0))
