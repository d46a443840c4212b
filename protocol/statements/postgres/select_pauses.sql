-- Lists the pauses that concern a queue and a name, by queue and name; '' stands for every queue or every name.
-- @param queue text
-- @param name text
-- @returns queue, name, paused_at_ms
select queue, name, paused_at_ms
from wadi_pauses
where (:queue::text = '' or queue = '' or queue = :queue::text)
  and (:name::text = '' or name = '' or name = :name::text)
order by queue, name
