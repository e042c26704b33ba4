//! Shape inference for ONNX operators without a counterpart in this crate, such as those that move, select and generate elements.

use super::known::{Known, Number};
use super::proto::NodeProto;
use super::{Reader, element as element_named, wrapped};
use crate::graph::{Dim, ElementType, Shape, Tensor};

/// Types and shapes of a node's outputs, including those that the file leaves out.
pub(super) type Outputs = Vec<(ElementType, Shape)>;

/// The operands of a node by their position in the file, where operands may be omitted.
pub(super) struct Operands<'a> {
    pub(super) reader: &'a Reader<'a>,
    pub(super) node: &'a NodeProto,
}

impl<'a> Operands<'a> {
    pub(super) fn tensor(&self, place: usize) -> Option<&'a Tensor> {
        let id = *self.reader.ids.get(self.node.input.get(place)?)?;
        Some(self.reader.graph.tensor(id))
    }

    pub(super) fn dims(&self, place: usize) -> Option<&'a [Dim]> {
        Some(&self.tensor(place)?.shape.0)
    }

    pub(super) fn element(&self, place: usize) -> Option<ElementType> {
        Some(self.tensor(place)?.element)
    }

    /// Numbers of an attribute or a known input, some of which may be dynamic dimensions.
    pub(super) fn symbolic_numbers(&self, attribute: Option<&str>, place: usize) -> Option<Vec<Dim>> {
        self.reader
            .symbolic_numbers(self.node, attribute.unwrap_or(""), place)
    }

    /// The single number of a known input.
    pub(super) fn scalar(&self, place: usize) -> Option<Dim> {
        match &self.reader.input_known(self.node, place)?.numbers[..] {
            [Number::Integer(dim)] => Some(dim.clone()),
            [Number::Fraction(value)] if value.fract() == 0.0 && value.abs() < 9e15 => {
                Some((*value as i64).into())
            }
            _ => None,
        }
    }

    pub(super) fn is_given(&self, place: usize) -> bool {
        self.node.input.get(place).is_some_and(|input| !input.is_empty())
    }

    pub(super) fn int(&self, name: &str, default: i64) -> i64 {
        self.node.int(name, default)
    }

    fn axis(&self, default: i64, rank: usize) -> Option<usize> {
        wrapped(self.int("axis", default), rank)
    }

    /// The type that an attribute names, otherwise the default.
    fn named(&self, attribute: &str, default: impl FnOnce() -> Option<ElementType>) -> Option<ElementType> {
        element_named(self.int(attribute, 0) as i32).or_else(default)
    }

    pub(super) fn one(&self, element: ElementType, dims: Vec<Dim>) -> Option<Outputs> {
        Some(vec![(element, Shape(dims))])
    }

    /// One output with the first operand's element type and these dimensions.
    fn first(&self, dims: Vec<Dim>) -> Option<Outputs> {
        self.one(self.element(0)?, dims)
    }
}

impl Reader<'_> {
    /// The dimensions to which two operands are broadcast.
    pub(super) fn broadcast(&self, a: &[Dim], b: &[Dim]) -> Vec<Dim> {
        let (long, short) = if a.len() >= b.len() { (a, b) } else { (b, a) };
        let mut dims = long.to_vec();
        for (dim, other) in dims[long.len() - short.len()..].iter_mut().zip(short) {
            *dim = dim.broadcast(other, &|symbol| self.symbol_range(symbol));
        }
        dims
    }

    /// The dimensions of a product of matrices or vectors.
    fn product(&self, a: &[Dim], b: &[Dim]) -> Option<Vec<Dim>> {
        let (a_outer, rows) = match a {
            [] => return None,
            [_] => (&[][..], None),
            [outer @ .., rows, _] => (outer, Some(rows)),
        };
        let (b_outer, columns) = match b {
            [] => return None,
            [_] => (&[][..], None),
            [outer @ .., _, columns] => (outer, Some(columns)),
        };
        let mut dims = self.broadcast(a_outer, b_outer);
        dims.extend(rows.into_iter().chain(columns).cloned());
        Some(dims)
    }

    /// The outputs of a node, if they follow from its inputs and from known values.
    pub(super) fn sized(&self, node: &NodeProto) -> Option<Outputs> {
        let of = Operands { reader: self, node };
        self.windowed(&of)
            .or_else(|| self.generated(&of))
            .or_else(|| self.calculated(&of))
            .or_else(|| self.moved(&of))
    }

    /// The outputs of operators that create tensors from sizes.
    fn generated(&self, of: &Operands<'_>) -> Option<Outputs> {
        let node = of.node;
        match node.op_type.as_str() {
            "ConstantOfShape" => of.one(self.filled(node).element, of.symbolic_numbers(Some("shape"), 0)?),
            "RandomNormal" | "RandomUniform" => {
                let shape = node.ints("shape")?.iter().map(|&dim| dim.into());
                of.one(of.named("dtype", || Some(ElementType::Float32))?, shape.collect())
            }
            "RandomNormalLike" | "RandomUniformLike" | "EyeLike" | "Bernoulli" => {
                of.one(of.named("dtype", || of.element(0))?, of.dims(0)?.to_vec())
            }
            "Multinomial" => {
                let dims = vec![of.dims(0)?.first()?.clone(), of.int("sample_size", 1).into()];
                of.one(of.named("dtype", || Some(ElementType::Int32))?, dims)
            }
            "BlackmanWindow" | "HammingWindow" | "HannWindow" => {
                let element = of.named("output_datatype", || Some(ElementType::Float32))?;
                of.one(element, vec![of.scalar(0)?])
            }
            "MelWeightMatrix" => {
                let element = of.named("output_datatype", || Some(ElementType::Float32))?;
                of.one(element, vec![of.scalar(1)?.floor_div(2) + 1, of.scalar(0)?])
            }
            "Range" => {
                let count = match (of.scalar(0), of.scalar(1), of.scalar(2)) {
                    (Some(first), Some(end), Some(by)) => match by.fixed()? {
                        by if by > 0 => (end - first).ceil_div(by),
                        by => (first - end).ceil_div(by.checked_neg().filter(|&by| by > 0)?),
                    },
                    _ => {
                        let value = |place| self.input_known(node, place)?.values()?.first().copied();
                        let (first, end, by): (f64, f64, f64) = (value(0)?, value(1)?, value(2)?);
                        let count = ((end - first) / by).ceil().max(0.0);
                        (count.is_finite() && count < 9e15)
                            .then_some(count as i64)?
                            .into()
                    }
                };
                let is_some = self.range(&count).is_some_and(|(least, _)| least >= 0);
                of.first(vec![if is_some { count } else { count.max(0) }])
            }
            "OneHot" => {
                let mut dims = of.dims(0)?.to_vec();
                let axis = of.axis(-1, dims.len() + 1)?;
                dims.insert(axis, of.scalar(1)?);
                of.one(of.element(2)?, dims)
            }
            "AffineGrid" => {
                let mut dims = of.symbolic_numbers(None, 1)?;
                (dims.len() > 2).then_some(())?;
                let axes = dims.len() as i64 - 2;
                dims.remove(1);
                dims.push(axes.into());
                of.first(dims)
            }
            _ => None,
        }
    }

    /// The outputs of operators that compute new elements.
    fn calculated(&self, of: &Operands<'_>) -> Option<Outputs> {
        let node = of.node;
        let data = of.dims(0)?;
        match node.op_type.as_str() {
            "Where" => {
                let dims = self.broadcast(&self.broadcast(data, of.dims(1)?), of.dims(2)?);
                of.one(of.element(1)?, dims)
            }
            "Max" | "Min" | "Sum" | "Mean" => {
                let all = (0..node.input.len()).filter_map(|place| of.dims(place));
                let mut all: Vec<Vec<Dim>> = all.map(<[Dim]>::to_vec).collect();
                // In pairs, so that expressions of many operands are not deep.
                while all.len() > 1 {
                    let pairs = all.chunks(2);
                    all = pairs
                        .map(|pair| self.broadcast(&pair[0], pair.last().map_or(&[], Vec::as_slice)))
                        .collect();
                }
                of.first(all.pop()?)
            }
            "MatMul" => of.first(self.product(data, of.dims(1)?)?),
            "MatMulInteger" => of.one(ElementType::Int32, self.product(data, of.dims(1)?)?),
            "QLinearMatMul" => of.one(of.element(7)?, self.product(data, of.dims(3)?)?),
            "Gemm" => {
                let of_side = |place: usize, transposed: &str, first: usize| {
                    let is_transposed = of.int(transposed, 0) != 0;
                    Some(
                        of.dims(place)?
                            .get(if is_transposed { 1 - first } else { first })?
                            .clone(),
                    )
                };
                of.first(vec![of_side(0, "transA", 0)?, of_side(1, "transB", 1)?])
            }
            "Einsum" => of.first(self.einsum(of)?),
            "Det" => of.first(data.get(..data.len().checked_sub(2)?)?.to_vec()),
            "QuantizeLinear" => {
                let element = of.named("output_dtype", || of.element(2).or(Some(ElementType::UInt8)))?;
                of.one(element, data.to_vec())
            }
            "DequantizeLinear" => of.one(of.named("output_dtype", || of.element(1))?, data.to_vec()),
            "DynamicQuantizeLinear" => {
                let scalar = |element| (element, Shape::default());
                let data = (ElementType::UInt8, Shape(data.to_vec()));
                Some(vec![data, scalar(of.element(0)?), scalar(ElementType::UInt8)])
            }
            "CastLike" => of.one(of.element(1)?, data.to_vec()),
            "LRN"
            | "LpNormalization"
            | "MeanVarianceNormalization"
            | "RMSNormalization"
            | "SimplifiedLayerNormalization"
            | "Hardmax"
            | "RotaryEmbedding"
            | "FastGelu"
            | "QuickGelu" => of.first(data.to_vec()),
            "Dropout" => {
                let outputs = [of.element(0)?, ElementType::Bool];
                Some(outputs.map(|element| (element, Shape(data.to_vec()))).to_vec())
            }
            "BatchNormalization" => {
                let mut outputs = vec![(of.element(0)?, Shape(data.to_vec()))];
                for place in [3, 4, 3, 4] {
                    outputs.push((of.element(place)?, Shape(of.dims(place)?.to_vec())));
                }
                Some(outputs)
            }
            "LayerNormalization" => {
                let mut reduced = data.to_vec();
                let axis = of.axis(-1, data.len())?;
                reduced[axis..].fill(1.into());
                let moment = (ElementType::Float32, Shape(reduced));
                Some(vec![
                    (of.element(0)?, Shape(data.to_vec())),
                    moment.clone(),
                    moment,
                ])
            }
            "NegativeLogLikelihoodLoss" | "SoftmaxCrossEntropyLoss" => {
                let reduction = node.attribute("reduction").map(|of| of.s.as_slice());
                let loss = match reduction {
                    Some(b"none") => of.dims(1)?.to_vec(),
                    _ => Vec::new(),
                };
                let element = of.element(0)?;
                Some(vec![(element, Shape(loss)), (element, Shape(data.to_vec()))])
            }
            "LSTM" | "GRU" | "RNN" => {
                // [sequence, batch, features] by [directions, gates * hidden, hidden]; or with the batch first.
                let [a, b, _] = data else { return None };
                let weights = of.dims(2)?;
                let directions = weights.first()?;
                let hidden = match of.int("hidden_size", 0) {
                    0 => weights.last()?.clone(),
                    hidden => hidden.into(),
                };
                let (all, last) = match of.int("layout", 0) {
                    0 => ([a, directions, b, &hidden], [directions, b, &hidden]),
                    _ => ([a, b, directions, &hidden], [a, directions, &hidden]),
                };
                let (element, last) = (of.element(0)?, Shape(last.map(Dim::clone).to_vec()));
                let all = Shape(all.map(Dim::clone).to_vec());
                Some(vec![(element, all), (element, last.clone()), (element, last)])
            }
            "Attention" => self.attention(of),
            "DFT" => {
                let mut dims = data.to_vec();
                let axis = match of.is_given(2) {
                    true => of.scalar(2)?.fixed()?,
                    // An attribute in the first version; an input that may be left out in later ones.
                    false => of.int("axis", if self.version >= 20 { -2 } else { 1 }),
                };
                let axis = wrapped(axis, dims.len())?;
                // The inverse of half a spectrum is real.
                let (is_half, is_inverse) = (of.int("onesided", 0) != 0, of.int("inverse", 0) != 0);
                if of.is_given(1) {
                    dims[axis] = of.scalar(1)?;
                } else if is_half && is_inverse {
                    dims[axis] = (dims[axis].clone() - 1) * 2;
                }
                if is_half && !is_inverse {
                    dims[axis] = dims[axis].clone().floor_div(2) + 1;
                }
                *dims.last_mut()? = if is_half && is_inverse { 1.into() } else { 2.into() };
                of.first(dims)
            }
            "STFT" => {
                let (batch, length) = (data.first()?, data.get(1)?);
                let points = match of.is_given(3) {
                    true => of.scalar(3)?,
                    false => of.dims(2)?.first()?.clone(),
                };
                let frames = (length.clone() - points.clone()).floor_div(of.scalar(1)?) + 1;
                let bins = match of.int("onesided", 1) {
                    0 => points,
                    _ => points.floor_div(2) + 1,
                };
                of.first(vec![batch.clone(), frames, bins, 2.into()])
            }
            _ => None,
        }
    }

    /// The outputs of operators that move or select elements.
    fn moved(&self, of: &Operands<'_>) -> Option<Outputs> {
        let node = of.node;
        let data = of.dims(0)?;
        match node.op_type.as_str() {
            "Expand" => of.first(self.broadcast(data, &of.symbolic_numbers(Some("shape"), 1)?)),
            "ReverseSequence" | "Scatter" | "ScatterElements" | "ScatterND" | "TensorScatter" => {
                of.first(data.to_vec())
            }
            "GatherElements" => of.first(of.dims(1)?.to_vec()),
            "GatherND" => {
                let batch = usize::try_from(of.int("batch_dims", 0)).ok()?;
                let (last, outer) = of.dims(1)?.split_last()?;
                let named = usize::try_from(last.fixed()?).ok()?;
                let rest = data.get(batch.checked_add(named)?..)?;
                of.first([outer, rest].concat())
            }
            "Tile" => {
                let times = of.symbolic_numbers(Some("repeats"), 1)?;
                (times.len() == data.len()).then_some(())?;
                of.first(
                    data.iter()
                        .zip(times)
                        .map(|(dim, times)| dim.clone() * times)
                        .collect(),
                )
            }
            "Pad" => {
                let pads = of.symbolic_numbers(Some("pads"), 1)?;
                let axes: Vec<i64> = match of.is_given(3) {
                    true => self.input_known(node, 3).and_then(Known::fixed)?,
                    false => (0..data.len() as i64).collect(),
                };
                (pads.len() == 2 * axes.len()).then_some(())?;
                let mut dims = data.to_vec();
                for (place, &axis) in axes.iter().enumerate() {
                    let axis = wrapped(axis, dims.len())?;
                    let both = pads[place].clone() + pads[place + axes.len()].clone();
                    dims[axis] = dims[axis].clone() + both;
                }
                of.first(dims)
            }
            "CenterCropPad" => {
                let sizes = of.symbolic_numbers(None, 1)?;
                let axes = node.ints("axes").map(<[i64]>::to_vec);
                let axes = axes.unwrap_or_else(|| (0..data.len() as i64).collect());
                let mut dims = data.to_vec();
                for (axis, size) in axes.into_iter().zip(sizes) {
                    let axis = wrapped(axis, dims.len())?;
                    dims[axis] = size;
                }
                of.first(dims)
            }
            "ArgMax" | "ArgMin" => {
                let mut dims = data.to_vec();
                let axis = of.axis(0, dims.len())?;
                match of.int("keepdims", 1) {
                    0 => drop(dims.remove(axis)),
                    _ => dims[axis] = 1.into(),
                }
                of.one(ElementType::Int64, dims)
            }
            "TopK" => {
                let mut dims = data.to_vec();
                let axis = of.axis(-1, dims.len())?;
                dims[axis] = of.symbolic_numbers(Some("k"), 1)?.pop()?;
                let shape = Shape(dims);
                Some(vec![(of.element(0)?, shape.clone()), (ElementType::Int64, shape)])
            }
            "Split" => self.parts(of),
            "DepthToSpace" | "SpaceToDepth" => {
                let [n, c, h, w] = data else { return None };
                let size = of.int("blocksize", 1).max(1);
                let area = size.checked_mul(size)?;
                let [c, h, w] = [c, h, w].map(Dim::clone);
                let [c, h, w] = match node.op_type.as_str() {
                    "DepthToSpace" => [c.floor_div(area), h * size, w * size],
                    _ => [c * area, h.floor_div(size), w.floor_div(size)],
                };
                of.first(vec![n.clone(), c, h, w])
            }
            "Col2Im" => {
                let [n, c, _] = data else { return None };
                let (image, block) = (of.symbolic_numbers(None, 1)?, of.symbolic_numbers(None, 2)?);
                let block = block.into_iter().fold(Dim::Fixed(1), |all, side| all * side);
                of.first([vec![n.clone(), c.clone().floor_div(block)], image].concat())
            }
            "Resize" | "Upsample" => {
                // Runtimes round products of scales differently: the file's shape decides.
                let said = self.described.get(node.output.first()?);
                let said =
                    said.filter(|(_, shape)| shape.fixed().is_some_and(|said| said.len() == data.len()));
                match said {
                    Some((_, shape)) => of.first(shape.0.clone()),
                    None => of.first(self.resized(node, data.to_vec())?),
                }
            }
            _ => None,
        }
    }

    /// The outputs of a `Split`: parts of the given sizes, or equal parts of which the last may be smaller.
    fn parts(&self, of: &Operands<'_>) -> Option<Outputs> {
        let (data, element) = (of.dims(0)?, of.element(0)?);
        let axis = of.axis(0, data.len())?;
        let count = of.node.output.len() as i64;
        let sizes = match of.is_given(1) || of.node.attribute("split").is_some() {
            true => of.symbolic_numbers(Some("split"), 1)?,
            false if count == 0 => return None,
            false => {
                let whole = data[axis].clone();
                let part = whole.clone().ceil_div(count);
                // The last one is smaller if the parts are not equal.
                let last = whole - part.clone() * (count - 1);
                let is_some = self.range(&last).is_some_and(|(least, _)| least >= 0);
                let last = if is_some {
                    last
                } else {
                    part.clone().min(last.max(0))
                };
                let mut sizes = vec![part; count as usize - 1];
                sizes.push(last);
                sizes
            }
        };
        let part = |size: Dim| {
            let mut dims = data.to_vec();
            dims[axis] = size;
            (element, Shape(dims))
        };
        Some(sizes.into_iter().map(part).collect())
    }

    /// The dimensions of the result of an `Einsum`; the output term of its equation and ellipses are optional.
    fn einsum(&self, of: &Operands<'_>) -> Option<Vec<Dim>> {
        let equation = &of.node.attribute("equation")?.s;
        let equation: String = std::str::from_utf8(equation).ok()?.split_whitespace().collect();
        let (inputs, output) = match equation.split_once("->") {
            Some((inputs, output)) => (inputs, Some(output.to_owned())),
            None => (equation.as_str(), None),
        };
        let mut named: Vec<(char, usize, Dim)> = Vec::new();
        let mut ellipsis: Vec<Dim> = Vec::new();
        for (place, term) in inputs.split(',').enumerate() {
            let dims = of.dims(place)?;
            let letters = term.chars().filter(|letter| *letter != '.').count();
            let more = dims.len().checked_sub(letters)?;
            let (mut at, mut rest) = (0, term);
            while let Some(letter) = rest.chars().next() {
                if let Some(after) = rest.strip_prefix("...") {
                    ellipsis = self.broadcast(&ellipsis, dims.get(at..at + more)?);
                    (at, rest) = (at + more, after);
                    continue;
                }
                let dim = dims.get(at)?;
                match named.iter_mut().find(|known| known.0 == letter) {
                    Some((_, times, known)) => {
                        *times += 1;
                        *known = self
                            .broadcast(std::slice::from_ref(known), std::slice::from_ref(dim))
                            .pop()?;
                    }
                    None => named.push((letter, 1, dim.clone())),
                }
                (at, rest) = (at + 1, &rest[letter.len_utf8()..]);
            }
            (at == dims.len()).then_some(())?;
        }
        // Without an output term: the dimensions that occur once, in alphabetical order.
        let output = output.unwrap_or_else(|| {
            let mut once: Vec<char> = named.iter().filter(|of| of.1 == 1).map(|of| of.0).collect();
            once.sort_unstable();
            format!("...{}", once.into_iter().collect::<String>())
        });
        let (mut dims, mut rest) = (Vec::new(), output.as_str());
        while let Some(letter) = rest.chars().next() {
            if let Some(after) = rest.strip_prefix("...") {
                dims.extend(ellipsis.iter().cloned());
                rest = after;
                continue;
            }
            dims.push(named.iter().find(|known| known.0 == letter)?.2.clone());
            rest = &rest[letter.len_utf8()..];
        }
        Some(dims)
    }

    /// The outputs of `Attention` over `[batch, heads, sequence, size]` or `[batch, sequence, heads * size]`.
    fn attention(&self, of: &Operands<'_>) -> Option<Outputs> {
        let element = of.element(0)?;
        let heads = |name: &str| Some(of.int(name, 0)).filter(|&heads| heads > 0);
        // Batch, heads, sequence, size.
        let split = |place: usize, name: &str| match of.dims(place)? {
            [batch, heads, sequence, size] => Some([batch, heads, sequence, size].map(Dim::clone)),
            [batch, sequence, all] => {
                let heads = heads(name)?;
                let size = all.clone().floor_div(heads);
                Some([batch.clone(), heads.into(), sequence.clone(), size])
            }
            _ => None,
        };
        let [batch, query_heads, queries, _] = split(0, "q_num_heads")?;
        let [_, key_heads, keys, key_size] = split(1, "kv_num_heads")?;
        let [_, _, _, value_size] = split(2, "kv_num_heads")?;
        let past = match of.dims(4) {
            Some([_, _, past, _]) => Some(past.clone()),
            _ => None,
        };
        let all = past.map_or_else(|| keys.clone(), |past| past + keys.clone());
        let result = match of.dims(0)?.len() {
            4 => vec![
                batch.clone(),
                query_heads.clone(),
                queries.clone(),
                value_size.clone(),
            ],
            _ => vec![
                batch.clone(),
                queries.clone(),
                query_heads.clone() * value_size.clone(),
            ],
        };
        let present = |size: Dim| vec![batch.clone(), key_heads.clone(), all.clone(), size];
        let scores = vec![batch.clone(), query_heads, queries, all.clone()];
        let outputs = [result, present(key_size), present(value_size), scores];
        Some(outputs.map(|dims| (element, Shape(dims))).to_vec())
    }
}
