#include "tests/sandbox/support.h"

#include <stdexcept>

namespace trueup::sandbox::testing {

namespace {

class Reader {
  public:
    explicit Reader(const std::string& bytes) : rest_(bytes) {}

    std::uint64_t number(std::size_t bytes) {
        std::uint64_t value = 0;
        for (const char c : take(bytes)) value = value << 8U | static_cast<unsigned char>(c);
        return value;
    }
    char letter() { return take(1)[0]; }
    std::string text() {
        const std::size_t zero = rest_.find('\0');
        if (zero == std::string_view::npos) throw std::runtime_error("no terminator");
        std::string out(take(zero));
        take(1);
        return out;
    }
    std::vector<std::string> tuple() {
        std::vector<std::string> values;
        for (std::uint64_t n = number(2); n > 0; --n) {
            const char kind = letter();
            if (kind == 'n') values.emplace_back("NULL");
            if (kind == 'u') values.emplace_back("UNCHANGED");
            if (kind == 't') values.emplace_back(take(number(4)));
        }
        return values;
    }
    bool done() const { return rest_.empty(); }

  private:
    std::string_view take(std::size_t bytes) {
        if (rest_.size() < bytes) throw std::runtime_error("short message");
        const std::string_view taken = rest_.substr(0, bytes);
        rest_.remove_prefix(bytes);
        return taken;
    }
    std::string_view rest_;
};

void read_change(Reader& in, WalMessage& out) {
    in.number(4);
    char part = in.letter();
    if (part == 'O' || part == 'K') {
        out.old_kind = part;
        out.before = in.tuple();
        if (out.kind == 'D') return;
        part = in.letter();
    }
    if (part != 'N') throw std::runtime_error("no new tuple");
    out.after = in.tuple();
}

void read_relation(Reader& in, WalMessage& out) {
    in.number(4);
    out.relation = in.text();
    out.relation += "." + in.text();
    in.letter();
    for (std::uint64_t n = in.number(2); n > 0; --n) {
        in.number(1);
        out.columns.push_back(in.text());
        in.number(8);
    }
}

void read_payload(Reader& in, WalMessage& out) {
    out.kind = in.letter();
    switch (out.kind) {
        case 'B':
            out.commit_lsn = in.number(8);
            in.number(8);
            out.xid = static_cast<std::uint32_t>(in.number(4));
            break;
        case 'C':
            in.number(1);
            out.commit_lsn = in.number(8);
            out.end_lsn = in.number(8);
            in.number(8);
            break;
        case 'R':
            read_relation(in, out);
            break;
        case 'T':
            in.number(9);
            break;
        default:
            read_change(in, out);
    }
}

}  // namespace

WalMessage read_wal(const std::string& bytes) {
    Reader in(bytes);
    WalMessage out;
    out.envelope = in.letter();
    if (out.envelope == 'k') {
        out.end = in.number(8);
        in.number(8);
        out.reply_now = in.number(1) == 1;
    } else {
        out.start = in.number(8);
        out.end = in.number(8);
        in.number(8);
        read_payload(in, out);
    }
    if (!in.done()) throw std::runtime_error("bytes left over");
    return out;
}

std::string outline(const std::vector<std::string>& wal) {
    std::string said;
    for (const std::string& bytes : wal) {
        const WalMessage message = read_wal(bytes);
        if (!said.empty()) said += ' ';
        said += message.envelope == 'k' ? 'k' : message.kind;
        const std::vector<std::string>& tuple =
            message.after.empty() ? message.before : message.after;
        if (!tuple.empty()) said += "(" + tuple[0] + ")";
    }
    return said;
}

}  // namespace trueup::sandbox::testing
