#include "tests/support/graph_script.h"

#include "engine/model/object_builder.h"
#include "policies/shipped.h"

namespace trueup::testing {

namespace {

std::string row_id(const std::string& pk) { return "public.instances/" + pk; }

std::string object_of(const Pod& pod) {
    ObjectBuilder object;
    if (pod.deleting) object.add("deleting", "true");
    if (pod.hold) object.add("hold", "true");
    if (pod.unlabelled) object.add_unchanged("hold");
    if (!pod.in_scope) object.add("in_scope", "false");
    return object.add("name", pod.name).add("namespace", "graphs").add("phase", pod.phase).take();
}

std::string object_of(const Row& row) {
    ObjectBuilder object;
    if (row.created) object.add("created_at", timestamp(*row.created));
    if (row.hold) object.add("hold", "true");
    if (row.timeout) object.add("inactivity_timeout", *row.timeout);
    if (row.active) object.add("last_activity_at", timestamp(*row.active));
    if (!row.owner.empty()) object.add("owner_username", row.owner);
    if (row.toast) {
        object.add_unchanged("pod_name");
    } else if (row.tracked) {
        object.add("pod_name", row.name);
    } else {
        object.add_null("pod_name");
    }
    if (row.status) object.add("status", *row.status);
    if (row.ttl) object.add("ttl", *row.ttl);
    return object.take();
}

}  // namespace

Settings graph_settings(Mode mode) {
    Settings settings = begun_empty(policies::usual_settings("graph-instances", Mode::kOff));
    for (const char* name : {"orphaned_pod", "missing_pod", "status_drift"}) {
        policies::rule_settings(settings, name).mode = mode;
    }
    policies::rule_settings(settings, "missing_pod").grace = 0s;
    return settings;
}

Settings served_settings() {
    Settings settings = graph_settings();
    for (const char* role : {"services", "ingresses"}) {
        const Role number = policies::role_number(*settings.text, role);
        settings.sources.push_back({role, Topic::kChangesResources, number, {}, 0});
    }
    return settings;
}

Settings two_clusters() {
    Settings settings = graph_settings();
    settings.sources.push_back(settings.sources.front());
    settings.sources.back().name = "west";
    return settings;
}

Settings of_another_build(Settings settings, const std::string& policy) {
    policy::Policy text = *settings.text;
    text.name = policy;
    text.rules.front().cases.front().when.front().role = "quanta";
    settings.text = std::move(text);
    return settings;
}

JournalScript quiet_world() {
    JournalScript s;
    s.all_known();
    s.quiet_until(100s);
    return s;
}

JournalScript orphan_at(Millis until, Settings settings) {
    JournalScript s(std::move(settings));
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.quiet_until(until);
    return s;
}

JournalScript observed_world() {
    JournalScript s(graph_settings(Mode::kObserve));
    s.all_known();
    return s;
}

JournalScript approving_world() {
    Settings settings = graph_settings();
    settings.rules[0].mode = Mode::kApprove;
    JournalScript s(settings);
    s.all_known();
    s.quiet_until(100s);
    s.pod({.name = "wrapper-7", .uid = "a", .version = 11});
    s.pod({.name = "wrapper-8", .uid = "b", .version = 11});
    s.quiet_until(170s);
    s.news();
    return s;
}

void JournalScript::pod(const Pod& pod) {
    seen({pod.source, pod.name, pod.uid, {pod.version, 0}, object_of(pod), pod.listed});
}

void JournalScript::row(const Row& row) {
    seen({"rows", row.name, row_id(row.pk), {row.version, row.order}, object_of(row), row.listed});
}

void JournalScript::pod_gone(const std::string& name, const std::string& uid,
                             std::uint64_t version) {
    gone({"pods", name, uid, {version, 0}, {}});
}

void JournalScript::row_gone(const std::string& name, const std::string& pk,
                             std::uint64_t version) {
    gone({"rows", name, row_id(pk), {version, 0}, {}});
}

void JournalScript::pods_listed(std::uint64_t as_of, std::vector<Pod> pods) {
    begin("pods", as_of);
    for (Pod& each : pods) {
        each.listed = true;
        pod(each);
    }
    end("pods");
}

void JournalScript::rows_listed(std::uint64_t as_of, std::vector<Row> rows) {
    begin("rows", as_of);
    for (Row& each : rows) {
        each.listed = true;
        row(each);
    }
    end("rows");
}

}  // namespace trueup::testing
