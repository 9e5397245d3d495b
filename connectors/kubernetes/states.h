// The states of a KubernetesConnector, and what leads from one to the next. Private to it. Values
// without locks: not thread-safe, as their owner.
//
// Two machines run side by side. The STREAM says what is known of the time before the next list,
// and so what that list is held against; the EPOCH says how far the list under way has come. What
// only one state knows stands in that state: without a stream there is no time of its next watch,
// and without a whole list no version to close the epoch with.
//
//   stream     what the next list is held against
//   Unread     nothing: it is read for itself and not published (K1, ADR 21)
//   ReadOnce   one list, read right before it
//   Streaming  all that a list and the watch behind it told, up to the position
//
//   epoch      how far the list has come
//   Idle       none is under way; `next_epoch_` says whether one is wanted, and from when on
//   Listing    its pages come in
//   Closing    it is whole; the objects that it lacks are asked for by name
//
// What happens to the list (=: stays as it is).
//
//   stream     epoch    event                   stream     epoch    emitted, and why
//   any        Idle     it is time              =          Listing
//   Unread     Listing  a page                  =          =        nothing: it could be cut, and
//                                                                   we know no object to miss (S5)
//   other      Listing  a page                  =          =        SnapshotBegin with the first,
//                                                                   an Upsert for each object
//   Unread     Listing  the last page           ReadOnce   Idle     nothing; the second list
//                                                                   follows at once
//   ReadOnce   Listing  the last page; the two  Streaming  Closing  a watch begins where the list
//                       lists agree                                 ends
//   Streaming  Listing  the last page; list and =          Closing  an audit beside the stream
//                       stream agree
//   ReadOnce,  Listing  the last page; it shows ReadOnce   Idle     no end: what this list is held
//   Streaming           what was lacking before                     against was cut, so this one is
//                                                                   now the first of two
//   Streaming  Listing  the list fails          =          Idle     no end; again after a pause.
//                                                                   The stream is as true as before
//   other      Listing  the list fails          Unread     Idle     no end; after a pause two lists
//                                                                   that follow one another
//   any        Closing  all are verified        =          Idle     SnapshotEnd; proofs may begin
//   Streaming, Closing  the list lacks what is  =          Idle     no end: the list was cut; again
//   had an              there, unchanged                            after a pause
//   epoch
//   other      Closing  the same                Unread     Idle     no end; two lists, since the
//                                                                   first may have been cut as well
//
// What happens to the stream.
//
//   stream     epoch    event                   stream     epoch    emitted, and why
//   Streaming  any      a line of the watch     =          =        Upsert, Remove, or verify first
//   Streaming  any      a line that cannot be   =          =        nothing, and no proof before a
//                       read                                        later epoch has ended
//   Streaming  any      the watch ends          =          =        the next one goes on from the
//                                                                   same position: nothing is lost
//   Streaming  any      410; watches that       Unread     Idle     nothing: what changed in
//                       cannot go on; nothing                       between is never told, so only
//                       can be proven; back                         two lists lead on
//                       after minutes away
//   any        any      the server went back    ReadOnce;  =        a list under way goes on: its
//                                               Unread: =           begin tells the engine.
//                                                                   `restart` follows
//   any        any      restart                 Unread     Idle     the first list at once
#pragma once

#include "engine/base/time.h"

#include <cstdint>
#include <string>
#include <variant>

namespace trueup::connectors::kubernetes {

struct Unread {};

struct ReadOnce {
    std::uint64_t version = 0;  ///< of that list
};

struct Streaming {
    enum class Proof : std::uint8_t {
        kAwaitsEpoch,  ///< none before an epoch of this stream is whole (K3)
        kAtOnce,       ///< one just was: the first proof does not wait for its turn
        kPaced,        ///< one with each heartbeat
    };
    SteadyTime heard{};       ///< a list, a line of the watch, its regular end or a proof came last
    SteadyTime next_watch{};  ///< when none is open
    std::uint32_t stuck_watches = 0;  ///< in a row
    Proof proof = Proof::kAwaitsEpoch;
};

using Stream = std::variant<Unread, ReadOnce, Streaming>;

struct Idle {};

struct Listing {
    std::uint64_t shown_before = 0;  ///< what had been shown when the list was asked for
    std::string lacking;  ///< an object of this list that what it is held against should have had
};

struct Closing {
    std::uint64_t version = 0;  ///< of the list
};

using Epoch = std::variant<Idle, Listing, Closing>;

/// An event could not be read, so that what it told is not known.
enum class Hole : std::uint8_t {
    kNone,
    kOpen,
    kCovered,  ///< by the epoch under way, which began after it, if it comes to its end
};

}  // namespace trueup::connectors::kubernetes
