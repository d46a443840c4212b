-- Whether a task passes the filters of a list. A null filter matches everything.
(
  (:status::text is null or @status_of(cairnq_tasks, @present()) = :status::text)
  and (:queue::text is null or queue = :queue::text)
  and (:name::text is null or name = :name::text)
)
