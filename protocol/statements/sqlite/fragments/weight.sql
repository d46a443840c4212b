-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
(3000 + length(cast(json_quote(cast(payload as text)) as blob))
  + length(cast(json_quote(cast(metadata as text)) as blob))
  + length(cast(json_quote(cast(error as text)) as blob))
  + length(cast(json_quote(cast(result as text)) as blob))
  + length(cast(json_quote(cast(message as text)) as blob)))
