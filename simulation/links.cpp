#include "simulation/links.h"

#include "simulation/instances.h"

#include <algorithm>
#include <utility>

namespace trueup::simulation {

using ports::CallId;
using ports::ClusterEvent;
using ports::DatabaseEvent;

namespace {

/// An HTTP answer that is no answer to the question tells a reader nothing.
bool says_something(const ClusterEvent& event) {
    return event.kind != ClusterEvent::Kind::kHead || event.status == 200 || event.status == 404;
}
bool says_something(const DatabaseEvent& /*event*/) { return true; }

/// What the server has for the process goes on its way, in order on each connection.
template <typename Port, typename Event>
void collect(Wire<Port, Event>& wire, Network& network) {
    if (!wire.server) return;
    std::vector<Event> events;
    wire.server->poll(Millis{0}, events);
    for (Event& event : events) {
        if (!says_something(event)) wire.reads.erase(event.call);
        SteadyTime arrival = network.scheduler.steady_now() + network.random.delay(network.longest);
        const auto call = wire.calls.find(event.call);
        if (call != wire.calls.end()) {
            Connection& connection = *call->second;
            arrival = std::max(arrival, connection.last_arrival) + connection.answers_take;
            connection.last_arrival = arrival;
        }
        if (!wire.cut) network.scheduler.at(arrival, wire.wake);
        wire.on_its_way.emplace(arrival, std::move(event));
    }
}

/// Something that the process sends reaches the server a while later, also when the process is dead
/// by then.
template <typename Port, typename Event, typename What>
void send(const std::shared_ptr<Wire<Port, Event>>& wire, Network& network, CrashPoint& life,
          Connection& connection, What what) {
    if (!life.call()) return;
    const SteadyTime sent = network.scheduler.steady_now() + network.random.delay(network.longest);
    connection.last_sent = std::max(connection.last_sent + Millis{1}, sent);
    wire->last_sent = std::max(wire->last_sent, connection.last_sent);
    network.scheduler.at(connection.last_sent, [wire, &network, what = std::move(what)] {
        if (!wire->server) return;
        what(*wire->server);
        collect(*wire, network);
    });
}

/// The same for a read that the oracles want to know of. It is carried out when it arrives.
template <typename Port, typename Event, typename What>
void send_read(const std::shared_ptr<Wire<Port, Event>>& wire, Network& network, CrashPoint& life,
               Connection& connection, CallId call, std::string about, What what) {
    send(wire, network, life, connection,
         [&line = *wire, &network, call, about = std::move(about),
          what = std::move(what)](Port& server) {
             if (line.mind) {
                 line.reads[call] = {about,
                                     {line.mind->witness.moment(), network.scheduler.steady_now()}};
                 line.mind->witness.looked();
             }
             what(server);
         });
}

template <typename Port, typename Event>
void receive(Wire<Port, Event>& wire, Network& network, CrashPoint& life, std::vector<Event>& out) {
    if (!life.alive()) return;
    collect(wire, network);
    auto& events = wire.on_its_way;
    while (!events.empty() && events.begin()->first <= network.scheduler.steady_now()) {
        Event event = std::move(events.begin()->second);
        events.erase(events.begin());
        const bool failed = event.kind == Event::Kind::kFailed;
        const bool last = failed || event.kind == Event::Kind::kEnd;
        const bool wanted = wire.cancelled.count(event.call) == 0;
        if (last) {
            wire.calls.erase(event.call);
            wire.cancelled.erase(event.call);
            const auto read = wire.reads.find(event.call);
            if (read != wire.reads.end()) {
                if (!failed && wanted) wire.mind->known[read->second.first] = read->second.second;
                wire.reads.erase(read);
            }
        }
        if (wanted) out.push_back(std::move(event));
    }
}

template <typename Port, typename Event>
void end_call(const std::shared_ptr<Wire<Port, Event>>& wire, Network& network, CrashPoint& life,
              CallId call) {
    const auto found = wire->calls.find(call);
    if (found == wire->calls.end()) return;  // it was answered
    wire->cancelled.insert(call);
    send(wire, network, life, *found->second, [call](Port& server) { server.cancel(call); });
    wire->calls.erase(found);
}

/// The process is gone. Its server notices once everything that was sent has arrived.
template <typename Port, typename Event>
void cut(const std::shared_ptr<Wire<Port, Event>>& wire, Network& network) {
    wire->cut = true;
    network.scheduler.at(wire->last_sent + Millis{1}, [wire] { wire->server.reset(); });
}

}  // namespace

ClusterLink::ClusterLink(std::unique_ptr<ports::Cluster> server, Network& network, CrashPoint& life,
                         std::function<void()> wake, std::shared_ptr<Mind> mind)
    : network_(network), life_(life), wire_(std::make_shared<Line>()) {
    wire_->server = std::move(server);
    wire_->wake = std::move(wake);
    wire_->mind = std::move(mind);
}

ClusterLink::~ClusterLink() { cut(wire_, network_); }

Connection& ClusterLink::connect(CallId call, Millis answers_take) {
    auto& connection = wire_->calls[call] = std::make_shared<Connection>();
    connection->answers_take = answers_take;
    return *connection;
}

void ClusterLink::list_page(CallId call, const ports::ListPage& request) {
    send(wire_, network_, life_, connect(call, network_.page),
         [=](ports::Cluster& server) { server.list_page(call, request); });
}

void ClusterLink::watch(CallId call, const ports::WatchFrom& request) {
    send(wire_, network_, life_, connect(call),
         [=](ports::Cluster& server) { server.watch(call, request); });
}

void ClusterLink::get(CallId call, const ports::GetObject& request) {
    send_read(wire_, network_, life_, connect(call), call,
              pod_look(request.resource.name_space == kWestSpace ? kWest : "pods", request.name),
              [=](ports::Cluster& server) { server.get(call, request); });
}

void ClusterLink::erase(CallId call, const ports::DeleteObject& request) {
    if (wire_->mind && life_.alive()) {
        wire_->mind->witness.write_sent(request.uid, request.resource_version, wire_->mind->known);
    }
    send(wire_, network_, life_, connect(call),
         [=](ports::Cluster& server) { server.erase(call, request); });
}

void ClusterLink::patch(CallId call, const ports::PatchObject& request) {
    if (wire_->mind && life_.alive()) {
        wire_->mind->witness.write_sent(request.uid, request.resource_version, wire_->mind->known);
    }
    send(wire_, network_, life_, connect(call),
         [=](ports::Cluster& server) { server.patch(call, request); });
}

void ClusterLink::create(CallId call, const ports::CreateObject& request) {
    const std::shared_ptr<Mind> mind = wire_->mind;
    const std::string word = mind ? mind->of + ", call " + std::to_string(call) : std::string();
    if (mind && life_.alive()) {
        mind->witness.write_sent(made_target(request.name), word, mind->known);
    }
    send(wire_, network_, life_, connect(call), [=](ports::Cluster& server) {
        if (mind) mind->witness.arrives(word);
        server.create(call, request);
    });
}

void ClusterLink::cancel(CallId call) { end_call(wire_, network_, life_, call); }

void ClusterLink::poll(Millis /*max_wait*/, std::vector<ClusterEvent>& out) {
    receive(*wire_, network_, life_, out);
}

DatabaseLink::DatabaseLink(sandbox::World& world, Network& network, CrashPoint& life,
                           std::function<void()> wake, std::shared_ptr<Mind> mind)
    : network_(network), life_(life), wire_(std::make_shared<Line>()) {
    wire_->server = world.database();
    wire_->wake = std::move(wake);
    wire_->mind = std::move(mind);
}

DatabaseLink::~DatabaseLink() { cut(wire_, network_); }

Connection& DatabaseLink::use(const std::shared_ptr<Connection>& connection, CallId call) {
    return *(wire_->calls[call] = connection);
}

void DatabaseLink::inspect(CallId call, const ports::Inspect& request) {
    send(wire_, network_, life_, use(sql_, call),
         [=](ports::Database& server) { server.inspect(call, request); });
}

void DatabaseLink::ensure_slot(CallId call, const ports::EnsureSlot& request) {
    send(wire_, network_, life_, use(stream_, call),
         [=](ports::Database& server) { server.ensure_slot(call, request); });
}

void DatabaseLink::drop_slot(CallId call, const std::string& slot) {
    send(wire_, network_, life_, use(stream_, call),
         [=](ports::Database& server) { server.drop_slot(call, slot); });
}

void DatabaseLink::copy(CallId call, const ports::CopyTable& request) {
    copying_->answers_take = network_.page;
    send(wire_, network_, life_, use(copying_, call),
         [=](ports::Database& server) { server.copy(call, request); });
}

void DatabaseLink::start_wal(CallId call, const ports::StartWal& request) {
    send(wire_, network_, life_, use(stream_, call),
         [=](ports::Database& server) { server.start_wal(call, request); });
}

void DatabaseLink::insert_lsn(CallId call, const ports::AskInsertLsn& request) {
    send(wire_, network_, life_, use(sql_, call),
         [=](ports::Database& server) { server.insert_lsn(call, request); });
}

void DatabaseLink::read_rows(CallId call, const ports::ReadRows& request) {
    const std::string about = request.pk ? "row/" + *request.pk : "key/" + request.key;
    send_read(wire_, network_, life_, use(sql_, call), call, about,
              [=](ports::Database& server) { server.read_rows(call, request); });
}

void DatabaseLink::update_row(CallId call, const ports::UpdateRow& request) {
    if (wire_->mind && life_.alive()) {
        wire_->mind->witness.write_sent(request.pk, request.xmin, wire_->mind->known);
    }
    send(wire_, network_, life_, use(sql_, call),
         [=](ports::Database& server) { server.update_row(call, request); });
}

void DatabaseLink::insert_row(CallId call, const ports::InsertRow& request) {
    if (wire_->mind && life_.alive() && !request.none_of.empty()) {
        wire_->mind->witness.write_sent(request.none_of.front().value, {}, wire_->mind->known);
    }
    send(wire_, network_, life_, use(sql_, call),
         [=](ports::Database& server) { server.insert_row(call, request); });
}

void DatabaseLink::wal_status(CallId call, ports::Lsn written, ports::Lsn flushed,
                              bool want_reply) {
    send(wire_, network_, life_, *stream_,
         [=](ports::Database& server) { server.wal_status(call, written, flushed, want_reply); });
}

void DatabaseLink::cancel(CallId call) { end_call(wire_, network_, life_, call); }

void DatabaseLink::poll(Millis /*max_wait*/, std::vector<DatabaseEvent>& out) {
    receive(*wire_, network_, life_, out);
}

}  // namespace trueup::simulation
