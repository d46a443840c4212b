-- Whether a task is in one of the queues that are asked about; a null list means every queue.
(:queues_json::jsonb is null or queue = any(array(select jsonb_array_elements_text(:queues_json::jsonb))))
