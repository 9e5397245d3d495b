-- The table that the processes of docker-compose.yml watch, and the role that they watch it as. Run by
-- the image at its first start.
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
GRANT UPDATE (status, pod_name, error_code, error_message) ON public.instances TO trueup;
