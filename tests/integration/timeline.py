"""What happens while the engine runs: timed events, each with what must become of its objects.

An event is a function that acts on the servers and waits between its acts, in a thread of its
own. Most pauses stay well below the engine's grace: whatever looks wrong for that long is right.
When the machine stalls and such a pause gets too long, the event proves nothing; it then says so
in the table's notes and its objects may become anything.
"""

import random
import threading
import time

import scenes
from event import Event, TooLate, insist
from pg import delete_statement, insert_statement
from scenes import ABSENT, ANY, DELETED, FINALIZER, UNTOUCHED


def now(event):
    """The time, as the database has it."""
    return insist(lambda: event.pg.sql("SELECT now()").strip())


# ------------------------------------------------------------------ nothing to correct
def late_row(event):
    """the row commits after its pod"""
    event.looks_wrong()
    event.pod()
    event.pause()
    event.row(event.rng.choice(("starting", "running")))
    event.looks_right()


def late_untracked_row(event):
    """the row commits after its pod, without pod_name"""
    event.looks_wrong()
    event.pod()
    event.pause()
    event.row("starting", tracked=False)
    event.looks_right()


def early_row(event):
    """the row commits before its pod"""
    event.looks_wrong()
    event.row("starting")
    event.pause()
    event.pod(phase=event.rng.choice(("Pending", "Running")))
    event.looks_right()


def early_untracked_row(event):
    """the row commits before its pod, without pod_name"""
    event.looks_wrong()
    event.row("starting", tracked=False)
    event.pause(0.05, 0.3)
    event.pod(phase="Pending")
    event.looks_right()


def recreated(event):
    """its pod is deleted and made again under the old name"""
    event.row()
    event.pod()
    event.settle()
    event.looks_wrong()
    event.delete_pod()
    event.pause(0.0, 0.4)
    event.pod()
    event.looks_right()


def reborn_owned(event):
    """an orphan is made again under its old name, now with a row"""
    event.looks_wrong()
    event.pod()
    event.pause(0.3, 0.6)
    event.delete_pod()
    event.pod()
    event.row()
    event.looks_right()


def leaves_selector(event):
    """the pod's label changes; it still exists"""
    event.pod()
    event.row()
    event.settle()
    event.relabel("moved-away")


def orphan_leaves_selector(event):
    """a pod without row stops to be ours"""
    event.looks_wrong()
    event.pod()
    event.pause(0.1, 0.4)
    event.relabel("moved-away")
    event.looks_right()


def comes_back_to_selector(event):
    """the pod's label changes and changes back"""
    event.row()
    event.pod()
    event.settle()
    event.relabel("moved-away")
    event.settle()
    event.relabel(scenes.APPS[0])


def terminates_slowly(event):
    """its deletion waits for a finalizer"""
    event.row()
    event.pod(finalizers=(FINALIZER,))
    event.settle()
    event.terminate_pod()


def backfilled(event):
    """the application writes pod_name later"""
    event.pod()
    row = event.row("starting", tracked=False)
    event.settle()
    event.update(row, pod_name=event.pod_name)
    event.settle()
    event.update(row, status="running")


def replaced(event):
    """the application moves the row to a new pod, then deletes the old one"""
    other = f"graph-{event.slug}"
    row = event.row()
    event.pod()
    event.settle()
    event.looks_wrong()
    event.pod(name=other)
    event.pause(0.0, 0.2)
    event.update(row, pod_name=other)
    event.pause(0.0, 0.2)
    event.delete_pod()
    event.looks_right()


def row_replaced(event):
    """the row is deleted and inserted anew in one transaction"""
    old = event.row()
    event.pod()
    event.settle()
    new = event.new_row()

    def replace():
        there = event.pg.rows(f"url_slug = '{event.slug}' AND id <> {old['id']}")
        return there or event.pg.write([delete_statement(old["id"]), insert_statement(new)])

    event.rows[old["id"]][1] = ABSENT
    row = insist(replace)[0]
    event.rows[row["id"]] = [row, UNTOUCHED]


def heartbeat(event):
    """updates that leave a big column alone"""
    event.pod()
    row = event.row(stack_trace="{noise}")
    for _ in range(4):
        event.settle()
        event.update(row, last_activity_at=now(event))


def starts_and_stops(event):
    """a whole life; the pod goes after the row said stopping"""
    row = event.row("starting")
    event.pod(phase="Pending")
    event.settle()
    event.set_phase("Running")
    event.update(row, status="running")
    event.settle()
    event.update(row, status=event.rng.choice(("stopping", "hibernated")))
    event.pause(0.0, 0.3)
    event.delete_pod()


# ------------------------------------------------------------------ deadlines that move
def ttl_extended(event):
    """its TTL is extended, again and again, a little before it is over"""
    event.pod()
    row = event.row(created_at=now(event), ttl="00:00:08")
    for end in (12, 16, 20):
        event.settle()
        event.update(row, ttl=f"00:00:{end:02}")
    event.update(row, ttl="24:00:00")


def kept_busy(event):
    """somebody uses it a little before its timeout is over"""
    event.pod()
    row = event.row(last_activity_at=now(event), inactivity_timeout="00:00:08")
    for _ in range(4):
        event.settle()
        event.update(row, last_activity_at=now(event))
    event.update(row, inactivity_timeout="04:00:00")


# ------------------------------------------------------------------ to be corrected
def new_orphan(event):
    """no row ever comes"""
    event.pod(after=DELETED)


def reborn_orphan(event):
    """an orphan is made again under its old name"""
    event.pod(after=DELETED)
    event.pause(0.3, 0.6)
    event.delete_pod()
    event.pod(after=DELETED)


def row_lost(event):
    """its row is deleted"""
    row = event.row()
    event.pod()
    event.settle()
    for entry in event.pods.values():
        entry[1] = DELETED
    event.expect_row(row, ABSENT)
    insist(lambda: event.pg.delete(row["id"]))


def pod_lost(event):
    """its pod is deleted for good"""
    row = event.row()
    event.pod()
    event.settle()
    event.expect_row(row, scenes.disappeared(event.pod_name))
    event.delete_pod()


def pod_fails(event):
    """its pod fails"""
    row = event.row()
    event.pod()
    event.settle()
    event.expect_row(row, scenes.entered_failed())
    event.set_phase("Failed")


TRICKY = (
    late_row, late_untracked_row, early_row, early_untracked_row, recreated, reborn_owned,
    leaves_selector, orphan_leaves_selector, comes_back_to_selector, terminates_slowly,
    backfilled, replaced, row_replaced, heartbeat, starts_and_stops,
)  # fmt: skip
DEADLINES = (ttl_extended, kept_busy)  # for an engine that judges deadlines
WRONG = (new_orphan, reborn_orphan, row_lost, pod_lost, pod_fails)
LONGEST = 7.0  # seconds that one event takes at most, as a rule


def play(table, kube, pg, seconds, seed, count=0, grace=3.0, without=(), columns=None, kinds=()):
    """Plays events over that many seconds and adds their objects to the table. Each kind comes
    once before any comes twice; `columns` are those of every row. Returns how many were played."""
    rng = random.Random(seed)
    kinds = [f for f in kinds or TRICKY + WRONG if f.__name__ not in without]
    plan = []
    for i in range(count or max(len(kinds), int(seconds))):
        plan.append((rng.uniform(0, max(1.0, seconds - LONGEST)), kinds[i % len(kinds)]))
    started = time.monotonic()
    threads = []
    for at, kind in sorted(plan, key=lambda entry: entry[0]):
        slug = scenes.make_slug(rng)
        event = Event(kube, pg, random.Random(rng.random()), grace, slug, columns=columns or {})
        time.sleep(max(0.0, started + at - time.monotonic()))
        threads.append(threading.Thread(target=_play_one, args=(table, event, kind)))
        threads[-1].start()
    for thread in threads:
        thread.join()
    time.sleep(max(0.0, started + seconds - time.monotonic()))
    return len(plan)


def _play_one(table, event, kind):
    name, why = kind.__name__, kind.__doc__
    void = False
    try:
        kind(event)
    except TooLate as error:
        void = True
        table.void.add(event.slug)
        table.note(f"{name} {event.slug} proves nothing, a pause got too long: {error}")
    except Exception as error:  # any failure of the world must show in the table
        void = True
        table.note(f"FAILED {name} {event.slug}: {type(error).__name__}: {error}")
    label = "wrong" if kind in WRONG else "tricky"
    for pod, after in event.pods.values():
        table.add_pod(name, label, why, pod, ANY if void else after)
    for row, after in event.rows.values():
        table.add_row(name, label, why, row, ANY if void else after)
