-- The table that the processes of docker-compose.yml watch, the role that reads it, and the role that
-- writes. Run by the image at its first start.
CREATE TABLE public.instances (
    id bigserial PRIMARY KEY,
    url_slug text,
    pod_name text,
    status text NOT NULL,
    error_code text,
    error_message text
);
ALTER TABLE public.instances REPLICA IDENTITY FULL;
CREATE PUBLICATION trueup FOR TABLE public.instances;
CREATE ROLE trueup LOGIN REPLICATION PASSWORD 'trueup';
GRANT SELECT ON public.instances TO trueup;
CREATE ROLE trueup_writer LOGIN PASSWORD 'trueup';
GRANT SELECT, UPDATE (status, pod_name, error_code, error_message)
    ON public.instances TO trueup_writer;
