// What can be made to go wrong with the next calls on a world's ports.
#pragma once

#include <cstdint>
#include <string>

namespace trueup::sandbox {

enum class Op : std::uint8_t {
    kList,
    kWatch,
    kGet,
    kDelete,  ///< and PATCH
    kInspect,
    kEnsureSlot,
    kDropSlot,
    kCopy,
    kStartWal,
    kInsertLsn,
    kRead,
    kUpdate,  ///< and INSERT
};

struct Failure {
    enum class Kind : std::uint8_t {
        kHttpStatus,       ///< `status` and `retry_after_ms`, with a Status body; nothing was done
        kErrorEvent,       ///< of a watch: HTTP 200, one ERROR event with code `status`, end
        kCutBody,          ///< the answer begins and the connection breaks in the middle
        kNotJson,          ///< HTTP 200 with a page of HTML
        kEmptyList,        ///< of a list: HTTP 200, no items, whatever there is
        kShortPage,        ///< of a list: HTTP 200, a page without its last third
        kBare,             ///< of a list, a watch or a GET: HTTP 200, objects without labels
        kHang,             ///< no answer, ever; ends by `cancel`
        kRefused,          ///< connection refused; nothing was done
        kLostReply,        ///< it was done, and the answer is lost
        kSqlState,         ///< the server answers with `sqlstate`; nothing was done
        kSlotLost,         ///< of start_wal: the slot's WAL was removed, for good
        kWalsenderKilled,  ///< of start_wal: dies after its first message
    };
    Kind kind = Kind::kHttpStatus;
    int status = 500;
    std::int64_t retry_after_ms = 0;
    std::string sqlstate = "57P01";

    static Failure http(int status, std::int64_t retry_after_ms = 0) {
        return {Kind::kHttpStatus, status, retry_after_ms, {}};
    }
    static Failure error_event(int status) { return {Kind::kErrorEvent, status, 0, {}}; }
    static Failure sql(std::string sqlstate) {
        return {Kind::kSqlState, 0, 0, std::move(sqlstate)};
    }
    static Failure of(Kind kind) { return {kind, 500, 0, "57P01"}; }
};

}  // namespace trueup::sandbox
