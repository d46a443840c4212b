-- Bytes a task takes in an answer: JSON text travels inside other JSON, where its quotes are escaped. 3,000 stand for
-- the short columns.
-- @param task the row
3000 + length(cast(json_quote(cast(@task.payload as text)) as blob))
  + length(cast(json_quote(cast(@task.metadata as text)) as blob))
  + length(cast(json_quote(cast(@task.error as text)) as blob))
  + length(cast(json_quote(cast(@task.result as text)) as blob))
  + length(cast(json_quote(cast(@task.message as text)) as blob))
