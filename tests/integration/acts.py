"""Single acts for fault tests, as subcommands: on a pod, a row, the slot, or by SQL."""

import json
import random
import sys

import scenes
from kube import describe_pod


def uncorrelated(args, servers):
    """A live row without pod_name and without a pod: holds back every deletion of an orphan."""
    slug = "uncorrelated"
    where = f"url_slug = '{slug}'"
    if args.action == "add":
        row = scenes.make_row(random.Random(0), slug, "running")
        there = servers.pg.rows(where) or [servers.pg.insert(row)]
        print(there[0]["id"])
    else:
        servers.pg.sql(f"DELETE FROM public.instances WHERE {where}")
    return 0


def show(value):
    """Prints an object as JSON; exit status 1 if there is none."""
    if value is None:
        return 1
    print(json.dumps(value, ensure_ascii=False))
    return 0


def pod(args, servers):
    kube, where = servers.kube, (args.namespace, args.name)
    if args.action == "create":
        kube.make_namespace(args.namespace)
        kube.create_pod(*where, _pod_labels(args), args.phase, _finalizers(args))
        if args.row:
            slug = args.name.removeprefix("wrapper-")
            row = scenes.make_row(random.Random(args.name), slug, args.row, args.name)
            print(f"row {servers.pg.insert(row)['id']}", file=sys.stderr)
    elif args.action == "recreate":
        before = kube.pod(*where)
        kube.delete_pod(*where)
        labels = before["metadata"].get("labels", {}) if before else _pod_labels(args)
        kube.create_pod(*where, labels, before["status"]["phase"] if before else args.phase)
    elif args.action == "delete":
        return show(describe_pod(kube.delete_pod(*where)))
    elif args.action == "phase":
        kube.set_phase(*where, args.value or "Running")
    elif args.action == "label":
        name, _, value = (args.value or "").partition("=")
        kube.set_labels(*where, {name: value or None})
    elif args.action == "release":
        kube.release_pod(*where)
    return show(describe_pod(kube.pod(*where)))


def _pod_labels(args):
    return {"app": args.app} if args.app else {}


def _finalizers(args):
    return (scenes.FINALIZER,) if args.finalizer else ()


def row(args, servers):
    """One act on one row: insert COLUMN=VALUE..., update ID COLUMN=VALUE..., get ID, delete ID;
    a bare COLUMN= is NULL; insert fills in what is not given."""
    values, row_id = {}, None
    for word in args.words:
        name, equals, value = word.partition("=")
        if equals:
            values[name] = value or None
        else:
            row_id = int(word)
    if args.action == "insert":
        slug = values.get("url_slug") or scenes.make_slug(random.Random())
        full = scenes.make_row(random.Random(slug), slug, "running", f"wrapper-{slug}")
        return show(servers.pg.insert(full | values))
    if row_id is None:
        raise SystemExit(f"row {args.action} needs the row's id")
    if args.action == "update":
        return show(servers.pg.update(row_id, values))
    if args.action == "delete":
        servers.pg.delete(row_id)
        return 0
    return show(servers.pg.row(row_id))


def sql(args, servers):
    print(servers.pg.sql(args.text))
    return 0


def slot(args, servers):
    if args.action == "drop":
        servers.pg.drop_slot(args.slot)
    elif args.action == "kill":
        print(servers.pg.kill_walsender(args.slot))
    else:
        query = "SELECT row_to_json(s) FROM pg_replication_slots s"
        print(servers.pg.sql(f"{query} WHERE slot_name = '{args.slot}'"))
    return 0
