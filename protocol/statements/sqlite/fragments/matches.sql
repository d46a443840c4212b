-- Whether a task passes the filters of a list. A null filter matches everything.
(
  (:status is null or @status_of(cairnq_tasks, @present()) = :status)
  and (:queue is null or +queue = :queue) and (:name is null or +name = :name)
)
