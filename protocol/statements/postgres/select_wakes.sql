-- Reads how often drains have kicked each other since one of them ended a task, and when a delayed kick comes.
-- The first claim of a drain asks for it.
-- @param queues_json json
-- @returns queue, hops, delayed_at_ms
select queue, hops, delayed_at_ms
from wadi_wakes
where queue = any(array(select jsonb_array_elements_text(:queues_json::jsonb)))
