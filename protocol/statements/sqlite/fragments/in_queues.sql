-- Whether a task is in one of the queues that are asked about; a null list means every queue.
(:queues_json is null or queue in (select value from json_each(:queues_json)))
