-- Whether the database belongs to another scope than the parameter `scope`; false if it belongs to none.
exists (select 1 from cairnq_meta where key = 'wadi_scope' and value <> :scope::text)
