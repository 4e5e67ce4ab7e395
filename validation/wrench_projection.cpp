// Projects points on wrench cones: the drystone side of validation/wrench_projection.py.
//
// Each line of the input is "dimension mu rolling spinning x_0 x_1 ..."; each line of the output is the projection, to
// all digits.
#include "drystone/cone/cone.hpp"

#include <fmt/core.h>

#include <iostream>
#include <string>
#include <vector>

int main() {
    int dim = 0;
    // As words: a stream does not read "inf".
    std::string mu, rolling, spinning, word;
    while (std::cin >> dim >> mu >> rolling >> spinning) {
        const drystone::Cone cone =
            drystone::Cone::wrench(dim, std::stod(mu), std::stod(rolling), std::stod(spinning));
        std::vector<double> x;
        for (int c = 0; c < dim && std::cin >> word; ++c) x.push_back(std::stod(word));
        if (static_cast<int>(x.size()) < dim) return 1;
        drystone::project(cone, x);
        for (int c = 0; c < dim; ++c) fmt::print("{:.17g}{}", x[c], c + 1 < dim ? ' ' : '\n');
    }
    return 0;
}
