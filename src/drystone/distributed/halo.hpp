// Who visits which contact of a step, and what ranks send each other while they solve it.
//
// A contact is visited by the rank that has the cell of its tile. Ranks that own one of its bodies hold it too: an owner has every contact of
// its bodies, and so can add up their impulses in the order of keys. All who hold a contact find it by themselves, by the same arithmetic on the same
// bits; so lists of what is sent agree without a word. One thing has to be said: which ranks visit a body, since they need not own it
// nor know of each other. Its owner knows all its contacts, and tells them.
#pragma once

#include "drystone/cone/exchange.hpp"
#include "drystone/distributed/part.hpp"

namespace drystone {

/// Contacts, their places in the tiling, and the ranks that visit them, of those contacts that this rank holds.
template <int d>
struct Held {
    ScratchArray<TilePlace<d>> places;
    std::vector<int> visitor;            ///< by contact
    std::vector<std::uint8_t> ours;      ///< by contact: 1 if we visit it
    std::vector<std::uint8_t> home;      ///< by contact: 1 if we keep its warm start
    std::vector<std::uint32_t> colours;  ///< of all ranks, ascending
    std::int64_t contacts = 0;           ///< of all ranks
};

/// Finds them among all contacts of local bodies, and drops the others. Collective.
template <int d>
void choose_held(const Scene<d>& scene, std::span<const double> reach, const TileGrid<d>& grid, int threads,
                 const Part<d>& part, ContactSet<d>& contacts, Held<d>& held);

/// The exchanges of one step. Must outlive the Exchange that it gives; all that it is made from must outlive it.
template <int d>
class Halo {
public:
    /// `tiling`: tiles that touch bodies of others are moved to the front of their colour. Collective.
    Halo(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
         const Held<d>& held, Part<d>& part, Tiling& tiling);
    Halo(const Halo&) = delete;
    Halo& operator=(const Halo&) = delete;

    [[nodiscard]] const Exchange& exchange() const { return exchange_; }
    /// Rows of contacts, from the rank that keeps their warm start to all that hold them.
    void share_from_home(Vector& rows);
    [[nodiscard]] std::int64_t shared_bodies() const {
        return static_cast<std::int64_t>(shared_bodies_.size());
    }
    /// By colour.
    [[nodiscard]] const std::vector<Channel>& sweep_channels() const { return sweeps_; }

private:
    /// Bodies that several ranks visit.
    void connect_sweeps(const Scene<d>& scene, const ContactSet<d>& contacts, const Held<d>& held,
                        Tiling& tiling);
    /// Data of bodies that several ranks visit, here and as they came from the others, become their mean.
    void average(double* data, int stride);
    /// One number for each body: the largest over visitors.
    void raise(double* data);
    /// Numbers of the bodies that others visit too, as they come from these.
    [[nodiscard]] Index copies() const;
    Channel connect_rows(const Scene<d>& scene, const ContactSet<d>& contacts, const ConeProblem& problem,
                         const Held<d>& held, bool from_home, int tag);

    Part<d>* part_;
    std::vector<Channel> sweeps_;  // by colour; where mass is split one, which receives into copies_
    struct SharedBody {
        Index body;
        Index first;           // of its copies
        Index before, behind;  // so many of them come from ranks before this one, and behind
    };
    std::vector<SharedBody> shared_bodies_;  // that several ranks visit
    std::vector<double> copies_;             // as they came from other ranks
    Channel rows_, home_rows_;
    Channel looks_;  // between visitors of a body, into copies_
    Exchange exchange_;
};

}  // namespace drystone
