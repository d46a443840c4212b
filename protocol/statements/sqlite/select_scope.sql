-- Reads the scope that the database belongs to; no row if it belongs to none.
-- @returns scope
select value as scope
from cairnq_meta
where key = 'wadi_scope'
