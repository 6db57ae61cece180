"""Names that the grammar knows."""

CONSTANTS = {"pi": "pi", "e": "e", "i": "i", "infty": "infty"}
GREEK = frozenset(
    "alpha beta gamma delta epsilon varepsilon zeta eta theta vartheta iota kappa lambda mu nu xi rho sigma tau upsilon phi varphi chi psi"
    " omega Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega ell hbar partial nabla".split()
)
SAME_LETTER = {"varepsilon": "epsilon", "vartheta": "theta", "varphi": "phi"}
UNARY = frozenset(
    "sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh log ln lg exp gcd lcm max min abs floor ceil"
    " asin acos atan arg Re Im det cis tg ctg arctg".split()
)
FUNCTIONS = UNARY | {"sqrt", "deg"}
NAMES = FUNCTIONS | set("pi infty infinity inf oo theta alpha beta lambda and or mod phi".split())
ACCENTS = frozenset("hat widehat tilde widetilde dot ddot check breve".split())
UNIT_WORDS = frozenset(
    "sq cu to cm mm km m ft in mi yd kg mg g lb lbs oz hr hrs min mins sec secs ml mL L mph am pm AM PM rad deg kmh Hz kHz kW kWh psi rpm"
    " USD pct yr yrs gal qt pt".split()
)
SHORT_WORDS = frozenset("no is or up to an us am pm ok we so if at on he me it of in my by go do be".split())
RENAMED = {"asin": "arcsin", "acos": "arccos", "atan": "arctan", "lg": "log", "tg": "tan", "ctg": "cot", "arctg": "arctan"}
CLOSERS = {"lfloor": ("rfloor", "floor"), "lceil": ("rceil", "ceil"), "langle": ("rangle", "seq"), "lVert": ("rVert", "abs")}
STARTERS = ACCENTS | frozenset(
    "frac binom sqrt cbrt fourthroot pi e i infty emptyset mathbb lfloor lceil langle begin overline bar sum prod".split()
)  # commands that may start a factor, beside functions and Greek letters
