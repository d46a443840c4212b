-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
3000 + length(cast(json_quote(cast(row.payload as text)) as blob))
  + length(cast(json_quote(cast(row.metadata as text)) as blob))
  + length(cast(json_quote(cast(row.error as text)) as blob))
  + length(cast(json_quote(cast(row.result as text)) as blob))
  + length(cast(json_quote(cast(row.message as text)) as blob))
