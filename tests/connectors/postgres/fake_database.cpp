#include "tests/connectors/postgres/fake_database.h"

#include "connectors/postgres/lsn.h"

#include <algorithm>

namespace trueup::connectors::postgres {

using Kind = ports::DatabaseEvent::Kind;

void FakeDatabase::push(ports::CallId call, Kind kind) {
    events_.emplace_back();
    events_.back().call = call;
    events_.back().kind = kind;
}

void FakeDatabase::answer(ports::CallId call, std::vector<ports::SqlRow> with) {
    push(call, Kind::kRows);
    events_.back().rows = std::move(with);
    push(call, Kind::kEnd);
}

void FakeDatabase::fail(ports::CallId call, const std::string& sqlstate, const std::string& words,
                        Next next) {
    push(call, Kind::kFailed);
    events_.back().sqlstate = sqlstate;
    events_.back().error = {next, Code::kUnavailable, words};
}

bool FakeDatabase::begin(ports::CallId call, const std::string& name, const std::string& text) {
    calls.push_back(text.empty() ? name : name + " " + text);
    const auto found = failures.find(name);
    if (found == failures.end()) return true;
    fail(call, found->second.first, found->second.second);
    failures.erase(found);
    return false;
}

void FakeDatabase::stream(std::string bytes) {
    push(wal_call, Kind::kWal);
    events_.back().data = std::move(bytes);
}

std::size_t FakeDatabase::count(const std::string& call) const {
    return static_cast<std::size_t>(std::count(calls.begin(), calls.end(), call));
}

void FakeDatabase::inspect(ports::CallId call, const ports::Inspect&) {
    if (!begin(call, "inspect", "") || !answer_inspections) return;
    answer(call, {inspection});
    events_[events_.size() - 2].rows[0].resize(15);
    events_[events_.size() - 2].rows[0][14] = published;
}

void FakeDatabase::ensure_slot(ports::CallId call, const ports::EnsureSlot& request) {
    if (begin(call, "ensure_slot", request.slot) && answer_slots) answer(call, {slot});
}

void FakeDatabase::drop_slot(ports::CallId call, const std::string& name) {
    if (begin(call, "drop_slot", name)) push(call, Kind::kEnd);
}

void FakeDatabase::copy(ports::CallId call, const ports::CopyTable&) {
    copy_call = call;
    if (!begin(call, "copy", "") || !give_snapshots) return;
    push(call, Kind::kSnapshot);
    events_.back().lsn = consistent_point;
    ports::SqlRow moment{format_lsn(consistent_point), clock, place};  // of a query
    moment.insert(moment.end(), types.begin(), types.end());
    events_.back().rows = {std::move(moment)};
    push(call, Kind::kRows);
    events_.back().rows = rows;
    if (answer_copies) end_copy();
}

void FakeDatabase::end_copy() { push(copy_call, Kind::kEnd); }

void FakeDatabase::start_wal(ports::CallId call, const ports::StartWal& request) {
    wal_call = call;
    begin(call, "start_wal", format_lsn(request.from));
}

void FakeDatabase::insert_lsn(ports::CallId call, const ports::AskInsertLsn&) {
    position_call = call;
    // The first question of a connection is the comparison before the stream.
    const bool comparing = wal_call == 0;
    if (begin(call, "insert_lsn", "") && (comparing || answer_positions)) answer_position();
}

void FakeDatabase::answer_position() {
    answer(position_call, {{insert_position, clock, std::nullopt, published}});
}

void FakeDatabase::read_rows(ports::CallId call, const ports::ReadRows&) {
    if (begin(call, "read_rows", "")) answer(call, {});
}

void FakeDatabase::update_row(ports::CallId call, const ports::UpdateRow&) {
    if (begin(call, "update_row", "")) answer(call, {{"1"}});
}

void FakeDatabase::insert_row(ports::CallId call, const ports::InsertRow&) {
    if (begin(call, "insert_row", "")) answer(call, {{"1"}});
}

void FakeDatabase::wal_status(ports::CallId call, ports::Lsn written, ports::Lsn flushed,
                              bool want_reply) {
    if (call == wal_call) statuses.push_back({written, flushed, want_reply});
}

void FakeDatabase::cancel(ports::CallId call) {
    calls.push_back(call == wal_call    ? "cancel stream"
                    : call == copy_call ? "cancel copy"
                                        : "cancel");
    std::erase_if(events_, [call](const auto& event) { return event.call == call; });
}

void FakeDatabase::poll(Millis, std::vector<ports::DatabaseEvent>& out) {
    for (ports::DatabaseEvent& event : events_) out.push_back(std::move(event));
    events_.clear();
}

}  // namespace trueup::connectors::postgres
