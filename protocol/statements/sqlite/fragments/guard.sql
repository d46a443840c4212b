-- Null on a database of this protocol version. On another it fails and undoes its batch, and the error names that
-- version. It is evaluated even where the statement finds no row.
(
  select json_extract('{}', 'wadi:protocol_version_' || value)
  from cairnq_meta where key = 'protocol_version' and value <> '1'
)
